import { DEFAULT_SETTINGS } from '@pipeline/domain';
import { admin, type Engine, type NotifiedChannel } from '@pipeline/engine';
import { parseEnv, silentLogger, withDeadline } from '@pipeline/runtime';
import {
  assertSchema,
  DatabaseUrl,
  isRefusedLogin,
  isUnavailable,
  Notifications,
  openStore,
  SchemaError,
  type Store,
} from '@pipeline/store';
import { z } from 'zod';
import type { Answer } from './command/command.ts';
import { EXIT } from './command/exit-codes.ts';
import { readPassword, readText } from './command/input.ts';
import { connectDiagnostics, connectHost } from './hosts.ts';
import { type Failure, messageOf, type Order, report } from './report.ts';

const Env = z.object({ DATABASE_URL: DatabaseUrl, DATABASE_DIRECT_URL: DatabaseUrl.optional() });

const RING_DEADLINE_MS = 2_000;

/** Runs a command and prints its result, or its error to standard error. @returns the exit code. */
export const run = (order: Order): Promise<number> => report(order, answerOf(order), storeFailure);

async function answerOf({ flags, action, env, streams }: Order): Promise<Answer> {
  const { DATABASE_URL, DATABASE_DIRECT_URL } = parseEnv(Env, env);
  const store = openStore({
    databaseUrl: DATABASE_URL,
    applicationName: 'pipeline-cli',
    poolSize: 2,
    statementTimeoutMs: 30_000,
    onConnectionError: () => undefined, // the statement in flight fails with the same error
  });
  const notified = new Map<NotifiedChannel, Set<number>>();
  try {
    await assertSchema(store.db);
    const actor = flags.as ?? admin.machineUser();
    const by: admin.Admin = { engine: engineOn(store, notified), actor, reason: flags.reason ?? null };
    const answer = await action({
      admin: by,
      use: admin,
      hostOf: (kind) => connectHost(env, kind),
      diagnosticsOf: (kind) => connectDiagnostics(env, kind),
      readPassword: () => readPassword(streams),
      readText: (file) => readText(file, streams.stdin),
    });
    await notifyAll(notified, DATABASE_DIRECT_URL ?? DATABASE_URL);
    return answer;
  } finally {
    await store.close();
  }
}

const engineOn = (store: Store, notified: Map<NotifiedChannel, Set<number>>): Engine => ({
  store,
  notify: (channel, tenantId) => void notified.set(channel, (notified.get(channel) ?? new Set()).add(tenantId)),
  settings: () => DEFAULT_SETTINGS,
  random: Math.random,
});

/** Notifies listeners of the changes. A lost notification only adds a short delay, because listeners also poll. */
async function notifyAll(
  notified: ReadonlyMap<NotifiedChannel, ReadonlySet<number>>,
  directUrl: string,
): Promise<void> {
  if (notified.size === 0) return;
  const notifications = new Notifications({ directUrl, applicationName: 'pipeline-cli', log: silentLogger });
  try {
    notifications.start();
    const connected = new Promise<void>((resolve) => void notifications.on('svc_cache', () => resolve()));
    await withDeadline(connected, RING_DEADLINE_MS, 'the notification connection').catch(() => undefined);
    for (const [channel, tenants] of notified) notifications.notify(channel, [...tenants]);
  } finally {
    await notifications.close();
  }
}

/** Failures of the database; null for all others. */
function storeFailure(error: unknown): Failure | null {
  const message = messageOf(error);
  if (error instanceof SchemaError) return { code: 'SCHEMA', message, exitCode: EXIT.config };
  if (isRefusedLogin(error)) return { code: 'CONFIG', message: `DATABASE_URL: ${message}`, exitCode: EXIT.config };
  if (!isUnavailable(error)) return null;
  const unreachable = `the database cannot be reached: ${message}`;
  return { code: 'STORE_UNAVAILABLE', message: unreachable, exitCode: EXIT.unavailable };
}
