import { type Response, Router } from 'express';
import { z } from 'zod';
import { requireRole } from '../access/roles.ts';
import { notFound } from '../http/failure.ts';
import { numberParam, paginate, readBody, repoOf, viewerOf } from '../http/request.ts';
import { nodeId, renderUser } from '../render/basics.ts';
import { renderComment } from '../render/issue.ts';
import type { CommentRecord, Sandbox } from '../state/model.ts';
import { change, timestamp } from '../state/sandbox.ts';
import { announceComment, issueOf, saveIssue } from './changes.ts';
import { sinceOf } from './routes.ts';

const Body = z.object({ body: z.string().min(1).max(65_536) });
const Reaction = z.object({
  content: z.enum(['+1', '-1', 'laugh', 'confused', 'heart', 'hooray', 'rocket', 'eyes']),
});

/** Comments of issues and pull requests, and the reactions to them. */
export function commentRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });

  router.get('/issues/:number/comments', (req, res) => {
    const repo = repoOf(res);
    const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
    const since = sinceOf(req) ?? 0;
    const comments = sandbox.state.list('comment', repo.id, issue.number);
    const found = comments.filter((comment) => Date.parse(comment.updatedAt) >= since);
    res.json(paginate(sandbox, req, res, found).map((comment) => renderComment(sandbox, repo, comment)));
  });

  router.post('/issues/:number/comments', (req, res) => {
    const [repo, author] = [repoOf(res), viewerOf(res).login];
    const { body } = readBody(Body, req, 'IssueComment');
    const issue = issueOf(sandbox, repo, numberParam(req, 'number'));
    const comment = change(sandbox, () => {
      const at = timestamp(sandbox);
      const fresh = { issueNumber: issue.number, author, body, reactions: [], createdAt: at, updatedAt: at };
      const record = { id: sandbox.state.nextId(), ...fresh };
      sandbox.state.put('comment', repo.id, record, { parent: issue.number });
      const saved = saveIssue(sandbox, repo, { ...issue, comments: issue.comments + 1 });
      announceComment(sandbox, repo, saved, record);
      return record;
    });
    res.status(201).json(renderComment(sandbox, repo, comment));
  });

  const find = (res: Response, id: number): CommentRecord => {
    const comment = sandbox.state.get('comment', repoOf(res).id, id);
    if (!comment) throw notFound();
    return comment;
  };

  router.get('/issues/comments/:id', (req, res) => {
    res.json(renderComment(sandbox, repoOf(res), find(res, numberParam(req, 'id'))));
  });

  router.patch('/issues/comments/:id', (req, res) => {
    const [repo, viewer] = [repoOf(res), viewerOf(res)];
    const { body } = readBody(Body, req, 'IssueComment');
    const comment = find(res, numberParam(req, 'id'));
    if (comment.author !== viewer.login) requireRole(repo, viewer.login, 'write');
    const saved = { ...comment, body, updatedAt: timestamp(sandbox) };
    change(sandbox, () => {
      sandbox.state.put('comment', repo.id, saved, { parent: comment.issueNumber });
      saveIssue(sandbox, repo, issueOf(sandbox, repo, comment.issueNumber));
    });
    res.json(renderComment(sandbox, repo, saved));
  });

  router.post('/issues/comments/:id/reactions', (req, res) => {
    const [repo, { login }] = [repoOf(res), viewerOf(res)];
    const { content } = readBody(Reaction, req, 'Reaction');
    const comment = find(res, numberParam(req, 'id'));
    const known = comment.reactions.find((one) => one.login === login && one.content === content);
    const reaction = change(sandbox, () => {
      if (known) return known;
      const fresh = { id: sandbox.state.nextId(), login, content, createdAt: timestamp(sandbox) };
      const saved = { ...comment, reactions: [...comment.reactions, fresh] };
      sandbox.state.put('comment', repo.id, saved, { parent: comment.issueNumber });
      return fresh;
    });
    res.status(known ? 200 : 201).json({
      id: reaction.id,
      node_id: nodeId('Reaction', reaction.id),
      user: renderUser(sandbox, login),
      content,
      created_at: reaction.createdAt,
    });
  });
  return router;
}
