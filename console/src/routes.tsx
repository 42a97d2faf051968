import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { basePath } from "./api/base";
import { readSessionState } from "./api/session";
import { agentRoutes } from "./features/agents/routes";
import { approvalRoutes } from "./features/approvals/routes";
import { auditRoutes } from "./features/audit/routes";
import { findPathInside, isHostedPage, leaveForHostedPage } from "./features/auth/way_back";
import { channelRoutes } from "./features/channels/routes";
import { chatRoutes } from "./features/chat/routes";
import { conversationRoutes } from "./features/conversations/routes";
import { credentialRoutes } from "./features/credentials/routes";
import { embedRoutes } from "./features/embed/routes";
import { eventRoutes } from "./features/events/routes";
import { exporterRoutes } from "./features/exporters/routes";
import { homeRoutes } from "./features/home/routes";
import { knowledgeRoutes } from "./features/knowledge/routes";
import { notificationRoutes } from "./features/notifications/routes";
import { operateRoutes } from "./features/operate/routes";
import { organizationRoutes } from "./features/organization/routes";
import { peopleRoutes } from "./features/people/routes";
import { providerRoutes } from "./features/providers/routes";
import { referenceRoutes } from "./features/reference/routes";
import { roleRoutes } from "./features/roles/routes";
import { serviceAccountRoutes } from "./features/service_accounts/routes";
import { settingsRoutes } from "./features/settings/routes";
import { statisticsRoutes } from "./features/statistics/routes";
import { tableRoutes } from "./features/tables/routes";
import { toolRoutes } from "./features/tools/routes";
import { traceRoutes } from "./features/traces/routes";
import { usageRoutes } from "./features/usage/routes";
import { userRoutes } from "./features/users/routes";
import { versionRoutes } from "./features/versions/routes";
import { webhookRoutes } from "./features/webhooks/routes";
import { readWelcomeSearch } from "./features/welcome/search";
import { frame, root } from "./frame_route";
import { forgetOpening } from "./shared/frame/opening";
import { createAddressReader, readText } from "./shared/list/address";
import { NotFoundState } from "./shared/states/states";

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
  validateSearch: createAddressReader<{ to?: string }>({ to: readText }),
  beforeLoad: ({ search }) => {
    if (readSessionState() !== "signed-in") {
      forgetOpening();
      return;
    }
    if (isHostedPage(search.to)) leaveForHostedPage(search.to);
    else throw redirect({ to: findPathInside(search.to), replace: true });
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
        ...auditRoutes(frame),
        ...channelRoutes(frame),
        ...chatRoutes(frame),
        ...conversationRoutes(frame),
        ...credentialRoutes(frame),
        ...embedRoutes(frame),
        ...eventRoutes(frame),
        ...exporterRoutes(frame),
        ...knowledgeRoutes(frame),
        ...notificationRoutes(frame),
        ...operateRoutes(frame),
        ...organizationRoutes(frame),
        ...peopleRoutes(frame),
        ...providerRoutes(frame),
        ...referenceRoutes(frame),
        ...roleRoutes(frame),
        ...serviceAccountRoutes(frame),
        ...settingsRoutes(frame),
        ...statisticsRoutes(frame),
        ...tableRoutes(frame),
        ...toolRoutes(frame),
        ...traceRoutes(frame),
        ...usageRoutes(frame),
        ...userRoutes(frame),
        ...versionRoutes(frame),
        ...webhookRoutes(frame),
      ]),
    ]),
    basepath: `${basePath}/console`,
    defaultPreload: "intent",
    defaultPreloadDelay: 80,
    scrollRestoration: false,
    defaultNotFoundComponent: NotFoundState,
    context: { client },
  });
