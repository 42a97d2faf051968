import { NumberInput } from "@mantine/core";

// A chunk of its own: few schemas have numbers, and it is larger than the form.
export default NumberInput;
