import { createTranslator } from "../../shared/i18n/words";
import { PLANS, type PlanName } from "./filters";
import en from "./words.en.json";

const say = createTranslator(en, "features/operate");

export const planNameOf = (plan: PlanName): string => say(`plan_${plan}`);

export const listPlanChoices = () => PLANS.map((value) => ({ value, label: planNameOf(value) }));
