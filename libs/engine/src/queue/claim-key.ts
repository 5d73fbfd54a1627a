import { createHmac, randomUUID } from 'node:crypto';
import { type Claimed, findKeyedClaim } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { hashToken } from '../context/token-hash.ts';
import type { ClaimRequest } from './claim-types.ts';

/** A request with an optional secret, so that a retry of it can be recognised. Absent = no retries. */
type Keyed = Pick<ClaimRequest, 'tenantId' | 'workerId' | 'claimSecret'>;

/** After this many claims under one key, later claims under it cannot be retried. */
const MAX_GENERATIONS = 16;

/**
 * The token of a claim. With a key, a retry needs no stored state: the same key gives the same token, of which the
 * store keeps the hash as of any other. When the claim of a generation has ended, the next generation is used.
 */
export function claimTokenOf({ tenantId, workerId, claimSecret }: Keyed, generation: number): string {
  if (claimSecret === undefined || generation >= MAX_GENERATIONS) return randomUUID();
  const bytes = createHmac('sha256', claimSecret).update(`${tenantId}/${workerId}/${generation}`).digest();
  return asUuid(bytes.toString('hex'));
}

/** Tokens are UUIDs on the wire: version 8 (own layout), 122 bits of the digest. */
function asUuid(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** State of a key: a valid claim, or the generation of the next one. */
type KeyState = { row: Claimed; claimToken: string } | { next: number };

/** Resolves a key that was used before. One indexed read for each claim that was made under it. */
export async function findKeyState(engine: Engine, request: Keyed): Promise<KeyState> {
  for (let generation = 0; generation < MAX_GENERATIONS; generation += 1) {
    const claimToken = claimTokenOf(request, generation);
    const found = await findKeyedClaim(engine.store.db, request.tenantId, hashToken(claimToken));
    if (found === undefined) return { next: generation };
    if (found.alive) return { row: found, claimToken };
  }
  return { next: MAX_GENERATIONS };
}
