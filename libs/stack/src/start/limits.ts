/** Settings of the services that limit requests; the services of a stack take them from its environment. */
export const LIMITS: readonly string[] = [
  ...['ADDRESS_RATE_LIMIT', 'CONNECTION_RATE_LIMIT', 'LOGIN_RATE_LIMIT', 'MCP_RATE_LIMIT', 'ORG_RATE_LIMIT'],
  ...['REGISTRATION_RATE_LIMIT', 'TOKEN_RATE_LIMIT', 'WORKER_RATE_LIMIT', 'ACCESS_TOKEN_SECONDS'],
  ...['LOGIN_ATTEMPTS', 'REQUESTS_PER_MINUTE'],
];
