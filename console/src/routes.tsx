import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { basePath } from "./api/base";
import { sessionState } from "./api/session";
import { agentRoutes } from "./features/agents/routes";
import { approvalRoutes } from "./features/approvals/routes";
import { chatRoutes } from "./features/chat/routes";
import { embedRoutes } from "./features/embed/routes";
import { homeRoutes } from "./features/home/routes";
import { knowledgeRoutes } from "./features/knowledge/routes";
import { notificationRoutes } from "./features/notifications/routes";
import { providerRoutes } from "./features/providers/routes";
import { serviceAccountRoutes } from "./features/service_accounts/routes";
import { statisticsRoutes } from "./features/statistics/routes";
import { traceRoutes } from "./features/traces/routes";
import { userRoutes } from "./features/users/routes";
import { versionRoutes } from "./features/versions/routes";
import { readWelcomeSearch } from "./features/welcome/search";
import { frame, root } from "./frame_route";
import { NotFound } from "./shared/states/states";

const accountPage = (
  path: "forgot-password" | "reset-password" | "verify-email",
  name: "ForgotPassword" | "ResetPassword" | "VerifyEmail",
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(() => import("./features/auth/account_pages"), name),
  });

const acceptInvitation = createRoute({
  getParentRoute: () => root,
  path: "accept-invitation",
  component: lazyRouteComponent(() => import("./features/auth/invitation"), "AcceptInvitation"),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "sign-in",
  validateSearch: (search): { to?: string } => (typeof search.to === "string" ? { to: search.to } : {}),
  beforeLoad: ({ search }) => {
    if (sessionState() === "signed-in")
      throw redirect({
        to: search.to?.startsWith("/") && !search.to.startsWith("//") ? search.to : "/",
        replace: true,
      });
  },
  component: lazyRouteComponent(() => import("./features/auth/sign_in")),
});

const welcome = createRoute({
  getParentRoute: () => root,
  path: "welcome",
  validateSearch: readWelcomeSearch,
  component: lazyRouteComponent(() => import("./features/welcome/welcome")),
});

export const newRouter = (client: QueryClient) =>
  createRouter({
    routeTree: root.addChildren([
      signIn,
      welcome,
      accountPage("forgot-password", "ForgotPassword"),
      accountPage("reset-password", "ResetPassword"),
      accountPage("verify-email", "VerifyEmail"),
      acceptInvitation,
      frame.addChildren([
        ...homeRoutes(frame),
        ...agentRoutes(frame),
        ...approvalRoutes(frame),
        ...chatRoutes(frame),
        ...embedRoutes(frame),
        ...knowledgeRoutes(frame),
        ...notificationRoutes(frame),
        ...providerRoutes(frame),
        ...serviceAccountRoutes(frame),
        ...statisticsRoutes(frame),
        ...traceRoutes(frame),
        ...userRoutes(frame),
        ...versionRoutes(frame),
      ]),
    ]),
    basepath: `${basePath}/console`,
    defaultPreload: "intent",
    defaultPreloadDelay: 80,
    scrollRestoration: false,
    defaultNotFoundComponent: NotFound,
    context: { client },
  });
