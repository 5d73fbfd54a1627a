import type { AttemptCounter } from '@pipeline/http';
import { type Db, pointsOf, returnPoint, takePoint } from '@pipeline/store';

/** Failed logins as all replicas count them together. */
export function storedCounter(db: Db): AttemptCounter {
  const named = (key: string) => `login ${key}`;
  return {
    add: (key, windowSeconds) => takePoint(db, named(key), windowSeconds * 1000),
    subtract: (key) => returnPoint(db, named(key)),
    count: (key) => pointsOf(db, named(key)),
  };
}
