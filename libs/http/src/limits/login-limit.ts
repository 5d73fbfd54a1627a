import { createHash } from 'node:crypto';
import { addressKey } from './address-key.ts';
import { RateLimited } from './rate-limit.ts';

const WINDOW_SECONDS = 5 * 60;
/** Period after a successful login of a name in which its address is exempt from the limit of the name over all addresses. */
const KNOWN_SECONDS = 14 * 24 * 60 * 60;

/** Limits per window as multiples of the configured limit, which applies to one name from one address. */
const PER_ADDRESS = 3;
const PER_NAME = 10;

/** Counts of a key in a window that begins with the first one. */
export interface AttemptCounter {
  /** Increments the count. @returns the new count and the time until the window ends. */
  add(key: string, windowSeconds: number): Promise<{ points: number; msLeft: number }>;
  /** Decrements the count. */
  subtract(key: string, windowSeconds: number): Promise<void>;
  /** Returns the count of the current window; 0 without a window. */
  count(key: string): Promise<number>;
}

/** A login attempt. `name` is normalized as for the comparison. */
interface LoginCaller {
  address: string;
  name: string;
}

/** `failed` = wrong name or password; `limited` = a limit is reached, reported once per window and key. */
export type LoginFailure = LoginCaller & { kind: 'failed' | 'limited' };

interface LoginLimitOptions {
  /** Failed logins in 5 minutes for one name from one address; 0 = no limit. */
  limit: number;
  counter: AttemptCounter;
  /** Called for each failure; must not throw. */
  onFailure: (failure: LoginFailure) => Promise<void>;
}

/** Protects a password comparison against guessing. */
export interface LoginLimit {
  /**
   * Runs the comparison unless a limit is reached; then nothing is compared, regardless of the password.
   * An attempt is counted before the comparison, so that concurrent attempts cannot exceed a limit; a successful one is
   * subtracted again.
   * @param compare returns null for a wrong name or password.
   * @throws RateLimited with the seconds to wait.
   */
  attempt<T>(caller: LoginCaller, compare: () => Promise<T | null>): Promise<T | null>;
}

interface Rule {
  key: string;
  limit: number;
}

/**
 * Limits failed logins by name and address, by address, and by name. A rejected attempt counts only towards the limit that
 * rejected it and not towards wider ones, so one address cannot exhaust the limit of a name; an address with a recent login
 * of the name is exempt from the limit by name.
 */
export function createLoginLimit({ limit, counter, onFailure }: LoginLimitOptions): LoginLimit {
  const take = async (caller: LoginCaller, rules: readonly Rule[]): Promise<void> => {
    for (const [index, rule] of rules.entries()) {
      const { points, msLeft } = await counter.add(rule.key, WINDOW_SECONDS);
      if (points <= rule.limit) continue;
      await giveBack(rules.slice(0, index));
      if (points === rule.limit + 1) await onFailure({ ...caller, kind: 'limited' });
      throw refusal(rule.limit, msLeft);
    }
  };
  const giveBack = async (rules: readonly Rule[]): Promise<void> => {
    for (const { key } of rules) await counter.subtract(key, WINDOW_SECONDS);
  };
  const guarded = async <T>(caller: LoginCaller, compare: () => Promise<T | null>): Promise<T | null> => {
    const { pair, address, name } = keysOf(caller);
    const isKnown = (await counter.count(`known ${pair}`)) > 0;
    const rules: Rule[] = [
      { key: `pair ${pair}`, limit },
      { key: `address ${address}`, limit: limit * PER_ADDRESS },
      ...(isKnown ? [] : [{ key: `name ${name}`, limit: limit * PER_NAME }]),
    ];
    await take(caller, rules);
    const result = await compare();
    if (result === null) return null;
    await giveBack(rules);
    if (!isKnown) await counter.add(`known ${pair}`, KNOWN_SECONDS);
    return result;
  };
  return {
    async attempt(caller, compare) {
      const result = limit === 0 ? await compare() : await guarded(caller, compare);
      if (result === null) await onFailure({ ...caller, kind: 'failed' });
      return result;
    },
  };
}

/** Names are hashed because they have any length and users may enter a password by mistake. */
function keysOf(caller: LoginCaller): { pair: string; address: string; name: string } {
  const digest = (text: string) => createHash('sha256').update(text).digest('base64url');
  const address = addressKey(caller.address);
  return { pair: digest(`${address} ${caller.name}`), address, name: digest(caller.name) };
}

function refusal(limit: number, msLeft: number): RateLimited {
  const seconds = Math.max(1, Math.ceil(msLeft / 1000));
  return new RateLimited(seconds, {
    ratelimit: `"login";r=0;t=${seconds}`,
    'ratelimit-policy': `"login";q=${limit};w=${WINDOW_SECONDS}`,
  });
}
