"""The command `tamis`."""

import os
import shutil
import signal
import sys


def main() -> None:
    """Run the command with the arguments of this process."""
    from . import _tamis

    # Ctrl-C is the program's own here.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    started = sys.argv[0]
    # Clients are configured to start this script, wherever they are started.
    program = shutil.which(started) or started
    status = _tamis.main([os.path.abspath(program), *sys.argv[1:]])
    sys.stdout.flush()
    # Threads of the program may still be at work, which Python would wait for.
    os._exit(status)


if __name__ == "__main__":
    main()
