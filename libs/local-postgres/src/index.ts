export { processIdentity, releaseData, takeData } from './data-owner.ts';
export { type PostgresOptions, type PostgresServer, removeAbandoned, startPostgres } from './server.ts';
export { prepareStandby } from './standby.ts';
