import { randomBytes, randomUUID } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';

const COOKIE = 'SVC_SESSION';
/** interface: Limits, session cookie validity. */
const SESSION_SECONDS = 12 * 60 * 60;
const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/** Sessions of browsers (interface: Surface B 2). The cookie holds a signed statement; nothing is kept of open ones. */
export interface Sessions {
  /** @returns the Set-Cookie header that begins a session of 12 hours. */
  open(username: string): Promise<string>;
  /** Ends the session of the cookie, if it is one. @returns the Set-Cookie header that clears it. */
  close(cookies: string | undefined): Promise<string>;
  /** Whose session the Cookie header carries; null without one, or when it is forged, ended or expired. */
  userOf(cookies: string | undefined): Promise<string | null>;
}

/** The secret is made here, so a restart ends every session. With several replicas the cookie is good on its own one. */
export function createSessions(now: () => Date): Sessions {
  const secret = randomBytes(32);
  /** Sessions that were ended before their time, with that time in seconds. Only a login can add one. */
  const ended = new Map<string, number>();

  const read = async (cookies: string | undefined): Promise<JWTPayload | null> => {
    for (const token of cookiesNamed(COOKIE, cookies)) {
      const payload = await verify(token, secret, now());
      if (payload && !ended.has(payload.jti ?? '')) return payload;
    }
    return null;
  };

  return {
    async open(username) {
      const seconds = Math.floor(now().getTime() / 1000);
      const token = await new SignJWT()
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(username)
        .setJti(randomUUID())
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + SESSION_SECONDS)
        .sign(secret);
      return `${COOKIE}=${token}; Max-Age=${SESSION_SECONDS}; ${ATTRIBUTES}`;
    },
    async close(cookies) {
      const session = await read(cookies);
      for (const [id, until] of ended) if (until * 1000 < now().getTime()) ended.delete(id);
      if (session?.jti) ended.set(session.jti, session.exp ?? 0);
      return `${COOKIE}=; Max-Age=0; ${ATTRIBUTES}`;
    },
    userOf: async (cookies) => (await read(cookies))?.sub ?? null,
  };
}

async function verify(token: string, secret: Uint8Array, currentDate: Date): Promise<JWTPayload | null> {
  try {
    const options = { algorithms: ['HS256'], requiredClaims: ['sub', 'jti', 'exp'], currentDate };
    return (await jwtVerify(token, secret, options)).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function cookiesNamed(name: string, header = ''): string[] {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}
