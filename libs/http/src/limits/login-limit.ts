import { createHash } from 'node:crypto';
import { addressKey } from './address-key.ts';
import { RateLimited } from './rate-limit.ts';

const WINDOW_SECONDS = 5 * 60;
/** How long an address from which a name has logged in is exempt from the limit of that name over all addresses. */
const KNOWN_SECONDS = 14 * 24 * 60 * 60;

/** Failed logins in a window, as multiples of the configured number, which holds for one name from one address. */
const PER_ADDRESS = 3;
const PER_NAME = 10;

/** Counts of a key in a window that begins with the first one. */
export interface AttemptCounter {
  /** Adds one. @returns the count, this one included, and the time until the window ends. */
  add(key: string, windowSeconds: number): Promise<{ points: number; msLeft: number }>;
  /** Takes one back. */
  subtract(key: string, windowSeconds: number): Promise<void>;
  /** The count of the window under way; 0 without one. */
  count(key: string): Promise<number>;
}

/** Who tries to log in. `name` is spelt the way it is compared. */
export interface LoginCaller {
  address: string;
  name: string;
}

/** `failed` = name or password is wrong; `limited` = a limit is reached, reported once for each window of a key. */
export type LoginFailure = LoginCaller & { kind: 'failed' | 'limited' };

export interface LoginLimitOptions {
  /** Failed logins in 5 minutes for one name from one address; 0 = no limit. */
  limit: number;
  counter: AttemptCounter;
  /** Told each failure; it must not throw. */
  onFailure: (failure: LoginFailure) => Promise<void>;
}

/** Guards a comparison of passwords against guessing. */
export interface LoginLimit {
  /**
   * Compares, unless a limit is reached: then nothing is compared, whether the password is right or wrong.
   * An attempt counts before it is compared, so attempts at the same time cannot pass a limit together; one that succeeds
   * is taken back.
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
 * Limits failed logins by name and address together, by address, and more widely by name. A refused attempt counts
 * for the limit that refused it and for no wider one, so one address cannot use up what a name has everywhere, and
 * an address from which the name logged in lately is not subject to that.
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

/** Names are hashed: they have any length, and a person may type a password there. */
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
