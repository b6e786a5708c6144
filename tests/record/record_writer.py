"""A process that records until it is killed: `python record_writer.py DATA [FILE_SIZE_LIMIT]`.

It steps at the world's own pace and prints `<step> <monotonic time>` when a step was handed to the recorder.
"""

import sys
import time
from pathlib import Path

import interplay.record
from interplay.envs import make


def main() -> None:
    archive = interplay.record.open(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        import resource

        limit = int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # writes beyond fail as on a full disk
    env = make("atari/space_invaders")
    recorder = archive.recorder(env.task, env, seed=11, actor="victim", actor_kind="agent")
    recorder.start(*env.reset(seed=11))
    pace_s = 0.0 if len(sys.argv) > 2 else 1 / 60
    step = 0
    try:
        while True:
            action = step // 10 % 18
            result = env.step({"player": action})
            recorder.step({"player": action}, result, clock_us=time.monotonic_ns() // 1000)
            step += 1
            print(step, time.monotonic(), flush=True)
            if result[2]:
                env.reset(seed=step)
            time.sleep(pace_s)
    except interplay.record.RecordingError as error:
        print(error, flush=True)
        sys.exit(3)


if __name__ == "__main__":
    main()
