import { sleep } from '@pipeline/runtime';
import { cpuOfTree } from '@pipeline/testing/process-cpu';
import { Pacer } from './pace.ts';
import type { StreamServer } from './stream-server.ts';
import { type Crowd, startCrowd } from './subscribers/crowd.ts';
import type { Seen } from './subscribers/tally.ts';

const PER_SECOND = 100;
/** Goes by before anything is counted: what waits between two rounds of writes is then as much at the end as it was. */
const LEAD_MS = 500;

/** Messages that arrived during a measurement. */
export interface Flow {
  /** Messages that arrived, at all subscribers. */
  perSecond: number;
  /** 1 = a hundred events a second at each; above 1 when what was held up before arrives. */
  ofTarget: number;
  /** CPU time of the server's process per message that arrived. */
  cpuUs: number;
  seen: Seen;
}

/** A server with its crowd; one pacer for all samples, for the numbers of the events go on. */
export class StreamLoad {
  readonly server: StreamServer;
  readonly crowd: Crowd;
  readonly #pacer: Pacer;

  constructor(server: StreamServer, path?: string) {
    this.server = server;
    this.crowd = startCrowd(server.url, path === undefined ? {} : { path });
    this.#pacer = new Pacer(server.publish, PER_SECOND);
  }

  /** Sends some through, so that code is compiled and connections are open. */
  async warmUp(events: number): Promise<void> {
    await this.crowd.begin();
    for (let event = 0; event < events; event += 1) {
      await this.#pacer.publish();
      await sleep(1_000 / PER_SECOND);
    }
    await this.crowd.settle(events);
  }

  /** A hundred events a second to so many subscribers. @throws Error when one of them did not get every event once. */
  async flow(subscribers: number, seconds: number): Promise<Flow> {
    const { crowd, server } = this;
    await crowd.resize(subscribers);
    await crowd.begin();
    const over = new AbortController();
    const publishing = this.#pacer.run(over.signal);
    try {
      await sleep(LEAD_MS);
      const [before, cpuBefore] = [await crowd.count(), cpuOfTree(server.pid)];
      await sleep(seconds * 1_000);
      const [after, cpuAfter] = [await crowd.count(), cpuOfTree(server.pid)];
      over.abort();
      const messages = after.messages - before.messages;
      const perSecond = messages / ((after.atUs - before.atUs) / 1e6);
      return {
        perSecond,
        ofTarget: perSecond / (PER_SECOND * subscribers),
        cpuUs: (cpuAfter - cpuBefore) / messages,
        seen: await crowd.settle(await publishing),
      };
    } finally {
      over.abort();
    }
  }
}
