"""VPT (Baker et al. 2022), a network that learned Minecraft from videos: network, actions, files, and playing agent.

`codec` converts between actions and the two numbers that the network chooses; `network` is the network in PyTorch, with the
published names of tensors; `checkpoint` reads published files without running anything in them; `folder` keeps a network among
the models of a data folder; `agent` plays. This package follows the paper and the results of the published code (MIT).
"""
