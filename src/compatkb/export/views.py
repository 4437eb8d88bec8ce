"""The views of the database: the questions that people open it with."""

from compatkb.export.columns import DatabaseView

VIEWS = (
    DatabaseView(
        "releases",
        "Releases of packages with their dates, end of life, withdrawal and builds; newest first.",
        """select r.product, r.version, r.released_from, r.released_by, r.released_basis, r.eol, r.yanked, r.yank_reason,
  (select group_concat(version, ', ') from (select version from build where release = r.id order by position)) as builds
from release r join product p on p.id = r.product
where p.role in ('package', 'companion')
order by p.place, r.product, r.position""",
    ),
    DatabaseView(
        "claims_with_sources",
        "Each claim with each document that it rests on.",
        """select c.id as claim, c.of_term, c.kind, c.to_terms, c.condition, c.basis, c.standing, c.reason, c.note,
  s.text as source, s.url, s.seen
from claim c left join claim_source cs on cs.claim = c.id left join source s on s.id = cs.source
order by c.id, cs.position""",
    ),
    DatabaseView(
        "claims_by_version",
        "Claims with the versions that they name on both sides: who says what of whom.",
        """select o.product, o.release, o.build, c.kind, t.product as other_product, t.release as other_release,
  t.build as other_build, c.condition, c.basis, c.standing, c.id as claim
from claim c join claim_side o on o.claim = c.id and o.side = 'of' join claim_side t on t.claim = c.id and t.side = 'to'""",
    ),
    DatabaseView(
        "image_contents",
        "Image tags with what they contain, a row for each thing.",
        """select t.repository, t.name as tag, t.device, c.product, c.term, c.basis, t.first_listed, t.last_listed,
  group_concat(coalesce(c.build, c.release), ', ') as versions
from image_tag t left join image_content c on c.image_tag = t.id
group by t.id, c.term order by t.repository, t.name, c.term""",
    ),
    DatabaseView(
        "current_support",
        "Releases of packages that are neither withdrawn nor past their end of life on the day of the query.",
        """select r.product, r.series, r.version, r.released_by as released, r.eol,
  cast(julianday(r.eol) - julianday(date('now')) as integer) as days_left
from release r join product p on p.id = r.product
where p.role in ('package', 'companion') and not r.yanked and coalesce(r.eol, p.eol, date('now')) >= date('now')
  and exists (select 1 from build b where b.release = r.id and b.installable)
order by p.place, r.product, r.position""",
    ),
    DatabaseView(
        "ends_of_life",
        "Every known end of life, the next ones first, then those that are over; days counted on the day of the query.",
        """select r.product, r.version, r.eol as last_day, r.eol_precision as precision,
  cast(julianday(r.eol) - julianday(date('now')) as integer) as days_left
from release r where r.eol is not null
order by r.eol < date('now'), abs(julianday(r.eol) - julianday(date('now'))), r.product, r.position""",
    ),
    DatabaseView(
        "build_platforms",
        "The Pythons for which a build has wheels, by system and architecture.",
        """select b.product, b.version as build, w.os, w.arch, w.basis, group_concat(w.python, ', ') as pythons
from build b join wheel w on w.build = b.id
group by b.id, w.os, w.arch, w.basis order by b.product, b.position, w.os, w.arch, w.basis""",
    ),
    DatabaseView(
        "disputes_with_sides",
        "Each dispute with what each side says, its documents, and the decision.",
        """select d.id as dispute, d.kind, coalesce(d.product, d.feature, d.repository) as owner, d.about, p.text as says,
  s.text as source, s.url, d.decision, d.holds, d.reason, d.decided
from dispute d left join dispute_position p on p.dispute = d.id
left join dispute_position_source ps on ps.dispute = d.id and ps.position = p.position left join source s on s.id = ps.source
order by d.id, p.position, ps.number""",
    ),
    DatabaseView(
        "features_by_version",
        "Features with the versions of which sources say that they have them or do not, and where.",
        """select v.product, v.release, v.build, s.feature, s.status, s.devices, s.os, s.arch, s.python, s.hardware, s.basis,
  s.standing, s.reason, s.note, s.id as statement
from statement s join statement_version v on v.statement = s.id""",
    ),
    DatabaseView(
        "timeline",
        "What happened when, the oldest first; with the number of disputes about it.",
        """select e.first_day, e.last_day, e.precision, v.name as vendor, e.kind, e.title, e.release, e.announced, e.note,
  (select count(distinct dispute) from dispute_subject where event = e.id) as disputes, e.id as event
from event e left join vendor v on v.id = e.vendor order by e.position""",
    ),
    DatabaseView(
        "open_questions",
        "What is only inferred or still disputed: where a contribution helps most.",
        """select 'claim' as what, c.id, c.of_term || ' ' || c.kind || ' ' || c.to_terms as about, coalesce(c.note, '') as why
from claim c where c.standing = 'open' or (c.standing = 'holds' and c.basis = 'inferred')
union all
select 'statement', s.id, s.feature || ' ' || s.status || ' in ' || s.term, coalesce(s.note, '')
from statement s where s.standing = 'open' or (s.standing = 'holds' and s.basis = 'inferred')
union all
select 'dispute', d.id, d.about, d.reason from dispute d where d.decision = 'open'
order by 1, 2""",
    ),
)
