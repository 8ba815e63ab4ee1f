"""A small Hugging Face Hub on the loopback interface, of the standard library alone.

It answers what `huggingface_hub` and `datasets` ask when a data set is published and loaded, keeps repositories,
commits and large objects as the real Hub does (`store`), and refuses what that refuses (`routes`). `bedside demo`
publishes to one, and so do the tests, which order faults of it beforehand (`hub`). It is no server for others: it
listens on 127.0.0.1 alone, and its tokens stand in its code.

    from scripts.loopback_hub.hub import LoopbackHub

    with LoopbackHub() as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)
"""
