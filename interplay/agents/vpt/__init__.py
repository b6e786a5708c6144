"""VPT (Baker et al. 2022), which learned Minecraft from videos: its network, actions and files, and the agent that plays.

`codec` turns actions into the two numbers that the network chooses and back; `network` is the network in PyTorch, under the
published names; `checkpoint` reads published files without running anything in them; `folder` keeps a network among the models
of a data folder; `agent` plays. Written from the paper and from what the published code (MIT) computes.
"""
