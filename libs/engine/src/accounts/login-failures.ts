import { displayText } from '@pipeline/domain';
import { insertAuditEntry, inTransaction, type Store } from '@pipeline/store';

/** A failed login, or the first one of a window that a limit refused. */
interface FailedLogin {
  kind: 'failed' | 'limited';
  /** Name as it was sent. */
  name: string;
  address: string;
}

interface LoginAuditOptions {
  /** null = no store is configured; the log has the entry all the same. */
  store: Pick<Store, 'db'> | null;
  service: 'hosted-api' | 'monitor';
  storeReady: () => boolean;
  log: { warn(message: string, fields: Record<string, unknown>): void };
  now: () => Date;
}

const MAX_NAME = 100;
const MAX_ADDRESS = 64;
/** Maximum number of entries of a process in a window: guessing from many addresses must not fill the audit log. */
const MAX_ENTRIES = 300;
const WINDOW_MS = 5 * 60_000;

const REASONS = {
  failed: 'wrong name or password',
  limited: 'too many failed logins: more are refused for now and not recorded',
} as const satisfies Record<FailedLogin['kind'], string>;

/**
 * Creates the function that records failed logins in the log and the audit. Names and addresses are cleaned and cut;
 * passwords are not passed in. It does not throw: an unavailable store must not change the response to a login.
 */
export function loginAudit({ store, service, storeReady, log, now }: LoginAuditOptions) {
  let windowEnds = 0;
  let written = 0;
  const mayWrite = (): boolean => {
    const time = now().getTime();
    if (time >= windowEnds) [windowEnds, written] = [time + WINDOW_MS, 0];
    written += 1;
    return written <= MAX_ENTRIES;
  };
  return async (failure: FailedLogin): Promise<void> => {
    const name = displayText(failure.name, MAX_NAME);
    const address = displayText(failure.address, MAX_ADDRESS);
    log.warn(failure.kind === 'failed' ? 'login failed' : 'logins limited', { name, address });
    if (!store || !storeReady() || !mayWrite()) return;
    const entry = {
      actorType: 'system' as const,
      actorId: service,
      action: `login-${failure.kind}`,
      subject: `user ${name}`,
      reason: `${REASONS[failure.kind]}, from ${address}`,
      details: { address },
    };
    await inTransaction(store.db, (tx) => insertAuditEntry(tx, entry)).catch((error: unknown) =>
      log.warn('failed login was not recorded in the audit log', { cause: String(error) }),
    );
  };
}
