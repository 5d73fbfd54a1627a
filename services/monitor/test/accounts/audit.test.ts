/** The audit: one file for Jest, so that the database is created once. */
import './audit-log.ts';
import './login-audit.ts';
import './operator-audit.ts';
