import { slugText } from '../parameter-texts.ts';
import { tenant } from './issue-address.ts';

/** How queries name a repo. */
export const repoQuery = {
  repo: slugText('must be owner/repo').meta({
    description: 'The repo, owner/repo, in any case.',
    example: 'acme/shop',
  }),
  tenant,
};
