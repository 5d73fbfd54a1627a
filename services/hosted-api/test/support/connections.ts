import { randomBytes } from 'node:crypto';
import type { Role } from '@pipeline/domain';
import { hashTokenBytes } from '@pipeline/engine';
import { grantRepo, insertConnection, insertToken, insertUser, type Store } from '@pipeline/store';
import { publicAddress, SCOPE } from '../../src/auth/public-address.ts';
import { PUBLIC_URL } from './hosted.ts';

export interface Minted {
  /** `mcp_at_…`, good for ten minutes. */
  token: string;
  connectionId: string;
  userId: number;
  email: string;
}

interface Mint {
  tenantId: number;
  /** Default member. */
  role?: Role;
  /** Granted to the user. */
  repoIds?: readonly number[];
  /** Resource that the connection is for; default the API under test. */
  resource?: string;
  /** Lifetime of the access token in ms; default ten minutes. */
  ttlMs?: number;
}

/** A user with a connection and its access token, straight into the store. */
export async function mintConnection({ db }: Store, mint: Mint): Promise<Minted> {
  const { tenantId, role = 'member', repoIds = [], ttlMs = 600_000 } = mint;
  const { resource = publicAddress(PUBLIC_URL).resource } = mint;
  const email = `user-${randomBytes(6).toString('hex')}@example.org`;
  const userId = await insertUser(db, { email, name: 'Test', passwordHash: 'none', tenantId, role });
  for (const repoId of repoIds) await grantRepo(db, tenantId, userId, repoId);
  const connectionId = `conn_${randomBytes(16).toString('base64url')}`;
  await insertConnection(db, {
    id: connectionId,
    tenantId,
    userId,
    clientId: 'dcr_test',
    clientName: 'Test program',
    resource,
    scope: SCOPE,
    payload: {},
    ttlMs: 3_600_000,
  });
  const token = `mcp_at_${randomBytes(32).toString('base64url')}`;
  await insertToken(db, { hash: hashTokenBytes(token), kind: 'AccessToken', connectionId, payload: {}, ttlMs });
  return { token, connectionId, userId, email };
}
