"""Start weir with the arguments of ``python -m weir_dp``."""

import subprocess
import sys

from weir_dp._program import program

if __name__ == "__main__":
    sys.exit(subprocess.run([program(), *sys.argv[1:]], check=False).returncode)
