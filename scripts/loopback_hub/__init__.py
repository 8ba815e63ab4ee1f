"""A small Hugging Face Hub on the loopback interface, using only the standard library.

It answers the requests of `huggingface_hub` and `datasets` when a data set is published and loaded, keeps repositories,
commits and large objects as the real Hub does (`store`), and refuses what that refuses (`routes`). `bedside demo`
publishes to one, and so do the tests, which schedule faults in advance (`tests/parts/faulty_hub.py`). It is no server
for others: it listens only on 127.0.0.1, and its tokens are in its code.

    from scripts.loopback_hub.hub import LoopbackHub

    with LoopbackHub() as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)
"""
