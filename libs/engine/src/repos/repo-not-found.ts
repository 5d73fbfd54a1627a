import { AppError } from '@pipeline/domain';

/**
 * The response for a repo that is unknown, disabled, of another tenant or not granted: it does not repeat the name, so
 * that these cases cannot be distinguished.
 */
export const repoNotFound = (): AppError =>
  new AppError('REPO_NOT_FOUND', 'The repo is not enabled, or the connection has no access to it');
