import type { Feedback, Turn } from "../../../shared/chat/chat";

/** What a reader may do with replies; what is missing is not offered. */
export type ReplyActions = {
  onSource: (turn: Turn, index: number) => void;
  onVersion?: (leaf: string) => void;
  onWriteAgain?: (turn: Turn) => void;
  onRetry?: (turn: Turn) => void;
  onDiscard?: () => void;
  onRate?: (turn: Turn, feedback: Feedback) => void;
};
