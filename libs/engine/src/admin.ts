export { listAudit } from './accounts/audit.ts';
export { createCredentials, endConnection, endConnectionsOf, listConnections } from './accounts/connections.ts';
export { linkIdentityOf, listIdentities, unlinkIdentityOf } from './accounts/identities.ts';
export { inviteMember, listInvitations, revokeInvitation } from './accounts/invitations.ts';
export { addMember, changeRole, listGrants, removeMember } from './accounts/members.ts';
export { createOrg, listOrgs, showOrg } from './accounts/orgs.ts';
export { asOwner } from './accounts/owner.ts';
export { createUser, disableUser, listUsers, setPassword } from './accounts/users.ts';
export {
  createWorkerToken,
  listWorkerTokens,
  revokeWorkerToken,
  revokeWorkerTokens,
} from './accounts/worker-tokens.ts';
export { type Admin, machineUser } from './context/admin.ts';
export { listModelPrices, removeModelPrice, setModelPrice } from './costs/model-prices.ts';
export { addRepo, type NewRepo } from './repos/add-repo.ts';
export { examineAddedRepo, examineEnabledRepos, examineRepo } from './repos/examine-repo.ts';
export { examineService } from './repos/examine-service.ts';
export { changeGrant } from './repos/grants.ts';
export { enableRepo, listRepos, removeRepo } from './repos/repos.ts';
export type { HostOfKind } from './repos/review-gate.ts';
export {
  activateWorkflow,
  checkWorkflowFor,
  listWorkflows,
  putWorkflow,
  setPlanApproval,
  showWorkflow,
} from './workflow/workflow-versions.ts';
