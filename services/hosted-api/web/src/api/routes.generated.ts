// Written by scripts/generate-routes-main.ts.
export const ROUTES = {
  browserUser: ['get', '/account/data/user'],
  browserBootstrap: ['get', '/account/data/bootstrap'],
  browserCosts: ['get', '/account/data/costs'],
  browserOverview: ['get', '/account/data/overview'],
  browserIssues: ['get', '/account/data/issues'],
  browserIssue: ['get', '/account/data/issues/{number}/why'],
  browserTimeline: ['get', '/account/data/issues/{number}/timeline'],
  browserConnections: ['get', '/account/data/connections'],
  browserEndConnections: ['post', '/account/data/connections/end-all'],
  browserEndConnection: ['post', '/account/data/connections/{id}/end'],
  browserMembers: ['get', '/account/data/members'],
  browserSessions: ['get', '/account/data/sessions'],
  browserEndSession: ['post', '/account/data/sessions/{id}/end'],
} as const;
