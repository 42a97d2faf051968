import { basePath } from "../../api/base";

const HOSTED_PAGE = /^\/c\/[a-z0-9][a-z0-9-]{1,58}[a-z0-9]$/;

/** Whether somebody signs in for a hosted page, which is no page of the console. */
export const isHostedPage = (to: string | undefined): to is string => HOSTED_PAGE.test(to ?? "");

export const leaveForHostedPage = (to: string) => location.replace(basePath + to);

/** Where a sign-in leads inside the console; addresses of other sites are not followed. */
export const findPathInside = (to: string | undefined) => (to?.startsWith("/") && !to.startsWith("//") ? to : "/");
