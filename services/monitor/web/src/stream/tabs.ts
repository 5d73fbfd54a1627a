import type { StreamEvent } from './events.ts';
import type { LiveFacts } from './live-state.ts';

/** Messages between the tabs of a browser. */
export type TabMessage =
  | { kind: 'event'; event: StreamEvent }
  | { kind: 'gap' }
  | { kind: 'facts'; facts: LiveFacts }
  /** A new tab: the leader answers with its facts. */
  | { kind: 'hello' }
  | { kind: 'signed-in' };

const NAME = 'pipeline.stream';

export interface Tabs {
  post(message: TabMessage): void;
  /** Runs `lead` in one tab of the browser until the signal aborts; the next tab follows when the leading one closes. */
  lead(signal: AbortSignal, lead: () => Promise<unknown>): Promise<void>;
  /** False where the browser has no locks, which it has on secure addresses only: every tab then leads. */
  readonly isShared: boolean;
}

export function joinTabs(onMessage: (message: TabMessage) => void): Tabs {
  const locks: LockManager | undefined = navigator.locks;
  if (locks === undefined) {
    return { post: () => undefined, lead: async (_, lead) => void (await lead()), isShared: false };
  }
  const channel = new BroadcastChannel(NAME);
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => onMessage(data);
  return {
    post: (message) => channel.postMessage(message),
    lead: (signal, lead) =>
      locks
        .request(NAME, { signal }, async () => void (await lead()))
        .catch((error: unknown) => {
          if (!signal.aborted) throw error;
        }),
    isShared: true,
  };
}
