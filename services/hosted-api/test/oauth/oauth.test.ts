/** Programs and their connections: one file for Jest, so that two replicas and their store are created once. */
import './oauth-pruning.ts';
import './oauth-clients.ts';
import './oauth-programs.ts';
import './consent.ts';
import './oauth-errors.ts';
import './oauth-tokens.ts';
import './oauth-life.ts';
import './device.ts';
import './client-credentials.ts';
import './oauth-audit.ts';
import './oauth-real-clients.ts';
