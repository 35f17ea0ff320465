"""What a rollout is worth."""

import verifiers.v1 as vf

from groundstate_verifiers.harness import INFO


class GroundstateEnvConfig(vf.EnvConfig):
    # The harness runs in this process: it only sends requests, and needs no sandbox.
    agent: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})


class GroundstateEnv(vf.Env[GroundstateEnvConfig]):
    async def run(self, task, agents) -> None:
        trace = await agents.agent.run(task)
        if not trace.ok:
            # The model or the server did not answer: the trace says so, and has no reward.
            return
        result = trace.info[INFO]
        trace.record_metrics(result["reward_components"])
        trace.record_metrics({name: float(count) for name, count in result["penalties"].items()})
        if result["reward"] is None:
            # verifiers knows no reward of null. An episode that fails has none, and counts nowhere.
            raise UnscorableError(f"{result['blame']} spoiled episode {result['episode']}: {result['reason']}")
        trace.record_reward("groundstate", result["reward"])


class UnscorableError(Exception):
    """Somebody else than the agent spoiled the episode."""
