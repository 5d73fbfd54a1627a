/** Settings of both services without limits of requests and logins. */
export const UNLIMITED = {
  ADDRESS_RATE_LIMIT: '0',
  CONNECTION_RATE_LIMIT: '0',
  LOGIN_RATE_LIMIT: '0',
  MCP_RATE_LIMIT: '0',
  ORG_RATE_LIMIT: '0',
  REGISTRATION_RATE_LIMIT: '0',
  TOKEN_RATE_LIMIT: '0',
  WORKER_RATE_LIMIT: '0',
  LOGIN_ATTEMPTS: '0',
  REQUESTS_PER_MINUTE: '0',
};
