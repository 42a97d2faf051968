"""`retinue doctor`: whether the settings, the machine and the services are fit for an instance."""
