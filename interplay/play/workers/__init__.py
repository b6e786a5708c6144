"""The processes in which worlds run, and the messages between them and the web process.

`pool.py` and `channel.py` are the web process's side, `worker.py` is the process, `live.py` one episode in it.
"""
