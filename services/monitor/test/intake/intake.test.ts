/** Reports of the host: one file for Jest, so that the database is created once. */
import './webhooks.ts';
import './moved-repo.ts';
import './own-token.ts';
import './plan-comments.ts';
