"""The SCGR builder: expert captions in, lay captions out, a fact gate on every row (MedLayBench-V, section 3)."""
