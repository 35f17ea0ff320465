"""Scenarios of a Groundstate server as a taskset for verifiers 0.4: `vf-eval groundstate-verifiers`.

The server plays the user, the tools and the world, and asks the model that is evaluated for each turn of the agent.
"""

from groundstate_verifiers.environment import GroundstateEnv
from groundstate_verifiers.harness import GroundstateHarness
from groundstate_verifiers.taskset import GroundstateTaskset

# verifiers looks here for exactly one class of each kind.
__all__ = ["GroundstateEnv", "GroundstateHarness", "GroundstateTaskset"]
