import { serverClock } from '@pipeline/web/timing/server-clock.ts';
import { after } from '@pipeline/web/timing/timers.ts';
import { session, signIns } from '../api/session-state.ts';
import { lastEventId, saw } from '../api/stream-position.ts';
import { keepConnected } from './connection.ts';
import type { StreamEvent } from './events.ts';
import { feedInto, type Sink, takeEvent } from './held-events.ts';
import { liveFacts } from './live-facts.ts';
import type { LiveFacts } from './live-state.ts';

/** Messages between the tabs of a browser. */
type TabMessage =
  | { kind: 'event'; event: StreamEvent }
  | { kind: 'gap' }
  | { kind: 'facts'; facts: LiveFacts }
  /** A new tab: the leader answers with its facts. */
  | { kind: 'hello' }
  | { kind: 'signed-in' };

const NAME = 'pipeline.stream';

interface Tabs {
  post(message: TabMessage): void;
  /** Runs `lead` in one tab of the browser until the signal aborts; the next tab follows when the leading one closes. */
  lead(signal: AbortSignal, lead: () => Promise<unknown>): Promise<void>;
  /** False where the browser has no locks, which it has on secure addresses only: every tab then leads. */
  readonly isShared: boolean;
}

/** Time after which a hidden tab closes its own stream where tabs cannot share one. */
const HIDDEN_MS = 60_000;

function receive(event: StreamEvent): void {
  saw(event.id);
  if (event.type === 'heartbeat') serverClock.observe(event.data.timestamp);
  else takeEvent(event);
}

/** Opens one stream for all tabs of the browser and feeds the sink of this tab. */
export function startLive(sink: Sink): void {
  feedInto(sink);
  const tabs = joinTabs(onTabMessage);
  tabs.post({ kind: 'hello' });
  let isLeader = false;

  function onTabMessage(message: TabMessage): void {
    if (message.kind === 'event') receive(message.event);
    else if (message.kind === 'gap') sink.refetch();
    else if (message.kind === 'facts') liveFacts.set(message.facts);
    else if (message.kind === 'hello' && isLeader) tabs.post({ kind: 'facts', facts: liveFacts.get() });
    else if (message.kind === 'signed-in') session.set('in');
  }

  const stream = async (signal: AbortSignal): Promise<void> => {
    isLeader = true;
    const position = { lastEventId: lastEventId(), lastMessageAt: liveFacts.get().lastMessageAt };
    const ended = await keepConnected(position, signal, {
      onFacts: (facts) => {
        liveFacts.set(facts);
        tabs.post({ kind: 'facts', facts });
      },
      onEvent: (event) => {
        receive(event);
        tabs.post({ kind: 'event', event });
      },
      onGap: () => {
        sink.refetch();
        tabs.post({ kind: 'gap' });
      },
    });
    isLeader = false;
    if (ended === 'signed-out') session.set('out');
  };

  let running: AbortController | null = null;
  const start = (): void => {
    if (running || session.get() !== 'in') return;
    const control = new AbortController();
    running = control;
    void tabs
      .lead(control.signal, () => stream(control.signal))
      .finally(() => {
        if (running === control) running = null;
      });
  };
  const stop = (): void => {
    running?.abort();
    running = null;
  };
  session.subscribe(() => {
    if (session.get() === 'in') start();
    else stop();
  });
  start();
  if (!tabs.isShared) stopWhileHidden(start, stop);
  signIns.subscribe(() => tabs.post({ kind: 'signed-in' }));
}

function stopWhileHidden(start: () => void, stop: () => void): void {
  let cancel: (() => void) | null = null;
  document.addEventListener('visibilitychange', () => {
    cancel?.();
    cancel = document.hidden ? after(HIDDEN_MS, stop) : null;
    if (!document.hidden) start();
  });
}

function joinTabs(onMessage: (message: TabMessage) => void): Tabs {
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
