type Named = { id: string; name: string };

const MAX_IDS = 100;

/**
 * Reads names one by one for those who ask, and all that are asked for in one go with a single request.
 * The server takes a hundred ids at a time.
 */
export function createNameReader(readNames: (ids: string[]) => Promise<Named[]>) {
  let waiting = new Set<string>();
  let next: Promise<Map<string, string>> | undefined;
  const readWaiting = async () => {
    await new Promise((resolve) => setTimeout(resolve));
    const ids = [...waiting];
    waiting = new Set();
    next = undefined;
    const starts = Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, i) => i * MAX_IDS);
    const found = await Promise.all(starts.map((start) => readNames(ids.slice(start, start + MAX_IDS))));
    return new Map(found.flat().map(({ id, name }) => [id, name]));
  };
  return async (id: string): Promise<string | null> => {
    waiting.add(id);
    next ??= readWaiting();
    return (await next).get(id) ?? null;
  };
}
