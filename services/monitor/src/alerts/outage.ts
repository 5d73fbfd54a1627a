import { randomUUID } from 'node:crypto';
import type { Alert } from '@pipeline/domain';
import { type Engine, recordOutage } from '@pipeline/engine';
import { type ChannelDeps, sendTo } from './channels.ts';
import type { AlertNotice } from './message.ts';

interface OutageDeps extends ChannelDeps {
  engine: Engine;
  /** This process among the monitors. */
  instance: string;
  storeWatch: { readonly isConnected: boolean; readonly state: string };
}

/**
 * Notifies the channels that the store is not available. The store cannot hold that alert, so it is kept in memory and
 * sent once to each channel, in each round until the channel accepts it. When the store is back, the outage is recorded
 * as a resolved alert, and the notified channels receive the resolution. Every monitor notifies for itself.
 */
export class OutageWatch {
  readonly #deps: OutageDeps;
  readonly #notified = new Set<number>();
  #since: Date | null = null;
  #alert: Alert | null = null;

  constructor(deps: OutageDeps) {
    this.#deps = deps;
  }

  async tick(): Promise<void> {
    const { storeWatch, now, engine } = this.#deps;
    if (storeWatch.isConnected) return this.#back();
    this.#since ??= now();
    const { storeAwaySeconds } = engine.settings().alerts;
    const awayMs = now().getTime() - this.#since.getTime();
    if (storeAwaySeconds === null || awayMs < storeAwaySeconds * 1_000) return;
    this.#alert ??= this.#alertOf(this.#since, storeAwaySeconds);
    await this.#notify('alert.raised', this.#alert);
  }

  async #back(): Promise<void> {
    const alert = this.#alert;
    if (alert !== null) {
      const resolvedAt = this.#deps.now().toISOString();
      await recordOutage(this.#deps.engine, alert);
      const recipients = [...this.#notified];
      this.#notified.clear();
      await this.#notify(
        'alert.resolved',
        { ...alert, lastSeenAt: resolvedAt, resolved: true, resolvedAt },
        recipients,
      );
    }
    this.#since = null;
    this.#alert = null;
    this.#notified.clear();
  }

  async #notify(type: AlertNotice['type'], alert: Alert, only?: readonly number[]): Promise<void> {
    const { engine, now, log } = this.#deps;
    const { alertChannels, alerts } = engine.settings();
    const links = { dashboard: alerts.dashboardUrl, issue: null };
    for (const [index, channel] of alertChannels.entries()) {
      if (this.#notified.has(index) || only?.includes(index) === false) continue;
      const message: AlertNotice = { id: randomUUID(), version: 1, type, createdAt: now().toISOString(), alert, links };
      const error = await sendTo(channel, message, this.#deps);
      if (error === null) this.#notified.add(index);
      else log.warn('a notification was not delivered', { channel: channel.type, type, reason: error });
    }
  }

  #alertOf(since: Date, threshold: number): Alert {
    const { instance, storeWatch } = this.#deps;
    return {
      id: randomUUID(),
      severity: 'critical',
      detector: 'store_unavailable',
      message: `the store is ${storeWatch.state} for monitor ${instance}: intake, claims and host writes are stopped`,
      fingerprint: `store_unavailable:${instance}`,
      repo: null,
      issueNumber: null,
      workerId: null,
      value: null,
      threshold,
      firstSeenAt: since.toISOString(),
      lastSeenAt: since.toISOString(),
      count: 1,
      resolved: false,
      resolvedAt: null,
    };
  }
}
