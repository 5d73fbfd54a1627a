import { deliveryRetrySec } from '@pipeline/domain';
import { assertHeld, channelKey, type Engine, type Leader } from '@pipeline/engine';
import { type DeliveryRow, dueDeliveries, noteDelivery, takeDelivery } from '@pipeline/store';
import { type ChannelDeps, sendTo } from './channels.ts';
import type { Message } from './message.ts';

interface DelivererDeps extends ChannelDeps {
  engine: Engine;
  leader: Leader;
}

const BATCH = 50;
const PARALLEL = 8;

/**
 * Sends what alerts and the daily digest have left for the channels; one monitor of all does. A try is counted before it is made, so a message
 * is sent at least once and its tries are bounded whatever ends the process:
 *
 *   pending -(taken)-> pending, later -(accepted)-> delivered | -(tries used up)-> failed
 *   pending -(its alert ended first, its channel left the configuration)-> dropped
 */
export class AlertDeliverer {
  readonly #deps: DelivererDeps;

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
  }

  /** @returns 'again' when there may be more. */
  tick(): Promise<'again' | undefined> {
    const { engine, leader } = this.#deps;
    return leader.run(engine, (leading) => this.#round(leading));
  }

  async #round(engine: Engine): Promise<'again' | undefined> {
    const due = await dueDeliveries(engine.store.db, BATCH);
    for (let at = 0; at < due.length; at += PARALLEL) {
      await Promise.all(due.slice(at, at + PARALLEL).map((row) => this.#deliver(engine, row)));
    }
    return due.length === BATCH ? 'again' : undefined;
  }

  async #deliver(engine: Engine, row: DeliveryRow): Promise<void> {
    const { log } = this.#deps;
    const db = engine.store.db;
    const fields = { channel: row.channel.split(' ')[0], type: row.type, fingerprint: row.fingerprint };
    const channel = engine.settings().alertChannels.find((one) => channelKey(one) === row.channel);
    if (!channel)
      return noteDelivery(db, row, { status: 'dropped', error: 'the channel was removed from the configuration' });
    const tries = row.attempts + 1;
    const waitSec = deliveryRetrySec(tries);
    // One that ended the process at its last try.
    if (row.attempts > 0 && deliveryRetrySec(row.attempts) === null) {
      return noteDelivery(db, row, { status: 'failed', error: row.error });
    }
    if (!(await takeDelivery(db, row, { attempts: row.attempts, waitSec }))) return;
    // Frozen since: the try is counted, and the successor makes the next one.
    assertHeld(engine);
    const error = await sendTo(channel, this.#messageOf(row), this.#deps);
    if (error === null) return noteDelivery(db, row, { status: 'delivered', error: null });
    const status = waitSec === null ? 'failed' : 'pending';
    log[waitSec === null ? 'error' : 'warn']('a notification was not delivered', {
      ...fields,
      tries,
      waitSec,
      reason: error,
    });
    await noteDelivery(db, row, { status, error });
  }

  #messageOf(row: DeliveryRow): Message {
    const { dashboardUrl } = this.#deps.engine.settings().alerts;
    const links = { dashboard: dashboardUrl, issue: row.issue_url };
    const envelope = { id: row.id, version: 1 as const, createdAt: row.created_at, links };
    if (row.type === 'digest.daily') return { ...envelope, type: row.type, digest: row.digest };
    return { ...envelope, type: row.type, alert: row.alert };
  }
}
