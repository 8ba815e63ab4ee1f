"""The SCGR builder: from expert captions to lay captions, with fact gates on every row (MedLayBench-V, section 3)."""
