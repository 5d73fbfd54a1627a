import { createHmac, randomUUID } from 'node:crypto';
import type { ClaimRequest } from './claim-types.ts';

/** After this many claims under one key, later claims under it cannot be retried. */
const MAX_GENERATIONS = 16;

/**
 * The tokens that a claim may have, in the order of their use. With a key, a retry needs no stored state: the same key
 * gives the same tokens, of which the store keeps the hash as of any other. When the claim of one has ended, the next one is
 * used; the last one is random.
 * @param isUsed whether the key was used before; otherwise the first token is enough.
 */
export function tokensOf({ tenantId, workerId, claimSecret }: ClaimRequest, isUsed: boolean): string[] {
  if (claimSecret === undefined) return [randomUUID()];
  const keyed = Array.from({ length: isUsed ? MAX_GENERATIONS : 1 }, (_, generation) =>
    asUuid(createHmac('sha256', claimSecret).update(`${tenantId}/${workerId}/${generation}`).digest('hex')),
  );
  return isUsed ? [...keyed, randomUUID()] : keyed;
}

/** Tokens are UUIDs on the wire: version 8 (own layout), 122 bits of the digest. */
function asUuid(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
