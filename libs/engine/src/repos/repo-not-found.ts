import { AppError } from '@pipeline/domain';

/**
 * The one answer for a repo that is unknown, disabled, of somebody else or not granted: it does not repeat the name, so
 * that nothing tells these apart.
 */
export const repoNotFound = (): AppError =>
  new AppError('REPO_NOT_FOUND', 'No enabled repo of that name is within reach of this connection');
