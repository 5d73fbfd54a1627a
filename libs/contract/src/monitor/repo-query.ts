import { slugText } from '../parameter-texts.ts';
import { tenant } from './issue-address.ts';

/** Query parameters of a repo. */
export const repoQuery = {
  repo: slugText('must be owner/repo').meta({
    description: 'Repo as `owner/repo`, case-insensitive.',
    example: 'acme/shop',
  }),
  tenant,
};
