import { asApiError } from "../../api/errors";

const MAX_TRIES = 3;

/** What is known of the server besides its answers. */
export type Connection = {
  /** Find out whether the server is gone, and if so ask until it is back. */
  suspect: () => void;
  /** Resolves when the server answers. */
  whenBack: (signal: AbortSignal) => Promise<void>;
};

/** Read, and if the server does not answer, read again once it does. */
export async function readWhenBack<T>(read: () => Promise<T>, connection: Connection, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      const { status } = asApiError(error);
      if (signal.aborted || tries === MAX_TRIES || (status > 0 && status < 502)) throw error;
      connection.suspect();
      await connection.whenBack(signal);
    }
  }
}
