export { listAudit } from './audit.ts';
export { endConnection, endConnectionsOf, listConnections } from './connections.ts';
export { type Admin, machineUser } from './context.ts';
export { addMember, changeGrant, changeRole, listGrants, removeMember } from './members.ts';
export { createOrg, listOrgs, showOrg } from './orgs.ts';
export { enableRepo, listRepos } from './repos.ts';
export { createUser, disableUser, listUsers, setPassword } from './users.ts';
export { createWorkerToken, listWorkerTokens, revokeWorkerToken, revokeWorkerTokens } from './worker-tokens.ts';
export { activateWorkflow, checkWorkflowFor, listWorkflows, putWorkflow, showWorkflow } from './workflows.ts';
