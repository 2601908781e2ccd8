"""``python -m torchlint``."""

from torchlint.cli.main import main

if __name__ == "__main__":
    main()
