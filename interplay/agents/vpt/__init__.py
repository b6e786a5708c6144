"""VPT (Baker et al. 2022), a network that learned Minecraft from videos: network, actions, files, and playing agent.

`codec` turns actions into the two numbers that the network chooses and back; `network` is the network in PyTorch, under the
published names; `checkpoint` reads published files without running anything in them; `folder` keeps a network among the models
of a data folder; `agent` plays. Written from the paper and from what the published code (MIT) computes.
"""
