from retinue.cli import main

main()
