import { AppError } from '@pipeline/domain';

/**
 * The response for a repo that is unknown, disabled, of another tenant or not granted: it does not repeat the name, so
 * that these cases cannot be distinguished.
 */
export const repoNotFound = (): AppError =>
  new AppError('REPO_NOT_FOUND', 'No enabled repo of that name is within reach of this connection');
