-- The published views over the tables of the snapshot. In the published file these have an underscore in front: they are
-- the program's own, and change as it does. The lines above a view say what it is, the remark behind a column its kind
-- (text, integer, date, boolean; "or null" where nothing may be known) and its meaning. Views whose columns have no remarks
-- answer questions; JSON leaves them out. Days are ISO dates, booleans 0 and 1; an ordinal + 1721424.5 is its Julian
-- day. WORDS(text) stands for the JSON array of words between blanks. `_member` has the elements of each
-- mask, `_platform` the platforms of each set of cells.

-- What this is: the number of its format, and the dates and digest of the data.
create view meta as select
  key, -- text: format, data_date, digest or program
  value -- text: its value
from _meta order by key;

-- Cited documents, each once.
create view source as select
  text, -- text: the document as people read it: repository, ref, path, line or heading
  url, -- text or null: its address; null for a file on a package index
  max(seen) as seen -- date: the last day on which it was read
from (select text, url, seen from _document union all select text, url, seen from _citation) group by text, url order by text, url;

-- Products: packages, runtimes, drivers, and the properties of a machine.
create view product as select
  p.id, -- text: its id
  p.name, -- text: its name
  p.role, -- text: package, companion, leaf (known through the pins of others) or dimension (of a machine)
  p.scheme, -- text: how its versions read: pep440, dotted, minor or listed
  p.rank as place, -- integer: its place in stacks and commands, small first
  p.distribution, -- text or null: its name on package indexes
  p.import_name, -- text or null: the module that it installs
  d.homepage, -- text or null: its address
  coalesce((select group_concat(name, ' ') from (select name from _name where product = p.id order by name)), '')
    as names, -- text: keys of the names by which it is found, between spaces
  d.eol, -- date or null: its last supported day
  json_extract(d.eol_rule, '$[0]')
    as eol_rule, -- text or null: how long releases are supported, where no day is known, or what was read instead
  coalesce(json_extract(d.eol_rule, '$[1]') = 0, 0)
    as eol_unpublished, -- boolean: whether it was read that neither an end nor a rule is published
  json_extract(d.replaced_by, '$[0]') as replaced_by, -- text or null: the product to use instead
  json_extract(d.replaced_by, '$[1]') as replaced_by_version, -- text or null: in which versions
  json_extract(d.replaced_by, '$[2]') as replaced_by_device, -- text or null: on which device
  d.note -- text or null: a remark
from _product p join _product_details d on d.id = p.id where p.role != 'feature' order by p.rank, p.id;

create view _version as select
  e.product, e.idx, e.product || '==' || e.release as release,
  case when p.role in ('package', 'companion') and e.devices != '' then e.product || '==' || e.version end as build
from _element e join _product p on p.id = e.product where p.role != 'feature';

create view _named as select m.product, m.mask, v.release, v.build
from _member m join _version v on v.product = m.product and v.idx = m.idx;

-- Releases of products; of a property of a machine, its values (a Python, a system, a GPU family).
create view release as select
  e.product || '==' || e.release as id, -- text: product==version
  e.product, -- text: its product
  e.release as version, -- text: its version
  d.series, -- text: the series that it belongs to
  row_number() over (partition by e.product order by e.idx desc) - 1
    as position, -- integer: 0 for the newest of its product
  r.name, -- text or null: its name, where it has one beside the version
  coalesce((select group_concat(value, ', ') from json_each(r.aliases)), '')
    as names, -- text: further names by which people know it, between commas
  coalesce(r.part_of, '') as part_of, -- text: the wider values that it belongs to, between spaces
  case when r.released like '.../%' then null when r.released like '%/%' then substr(r.released, 1, 10)
    else coalesce(r.released, date(f.since + 1721424.5)) end
    as released_from, -- date or null: the first day on which it may have been released
  case when r.released like '%/...' then null when r.released like '%/%' then substr(r.released, -10)
    else coalesce(r.released, date(f.by + 1721424.5)) end
    as released_by, -- date or null: the day by which it was; equal to the first where the day is known
  r.basis as released_basis, -- text or null: what the date is: tag-commit, first-upload, announcement ...
  r.eol, -- date or null: its last supported day
  r.eol_precision, -- text or null: day, month, quarter or year
  e.yanked, -- boolean: whether every build of it is withdrawn
  iif(e.yanked, date(e.yank_after + 1721424.5), null)
    as yanked_from, -- date or null: the first day on which that may have happened
  iif(e.yanked, date(e.yank_by + 1721424.5), null)
    as yanked_by, -- date or null: the day by which it had; equal to the first where the day is known
  iif(e.yanked, e.yank_reason, null) as yank_reason, -- text or null: the reason that was given
  r.track, -- text or null: of a driver: lts, production or rolling
  coalesce(r.devices, '') as devices, -- text: of hardware: the devices that it offers, between spaces
  r.note -- text or null: a remark
from (
  select product, release, max(idx) as idx, yank_after, yank_by, yank_reason, sum(yank_by is null) = 0 as yanked
  from _element group by product, release
) e
join _product p on p.id = e.product and p.role != 'feature'
join _element_details d on d.product = e.product and d.idx = e.idx
left join _release r on r.product = e.product and r.version = e.release
left join (
  select product, release, since, by, min(coalesce(by, since)) from _element
  where coalesce(by, since) is not null group by product, release
) f on f.product = e.product and f.release = e.release
order by p.rank, p.id, e.idx desc;

-- The documents that a release rests on.
create view release_source as select
  e.product || '==' || e.release as release, -- text: the release
  s.key as position, -- integer: 0 for the first
  json_extract(s.value, '$[0]') as text, -- text: the document
  json_extract(s.value, '$[1]') as url -- text or null: its address
from (select product, release, max(idx) as idx from _element group by product, release) e
join _product p on p.id = e.product and p.role != 'feature'
join _element_details d on d.product = e.product and d.idx = e.idx
left join _release r on r.product = e.product and r.version = e.release,
json_each(coalesce(r.sources, d.sources)) s order by p.rank, p.id, e.idx desc, s.key;

-- Package indexes.
create view channel as select
  id, -- text: its id; default is the client's own
  rowid - 1 as position, -- integer: its place in the data
  name, -- text: its name
  url, -- text or null: its address
  style, -- text: how clients are told of it: default, index-url, extra-index-url or find-links; source is a repository
  hardware, -- text: the hardware that it is for, between spaces; empty for any
  note -- text or null: a remark
from _channel order by rowid;

-- Mirrors of package indexes.
create view channel_mirror as select
  c.id as channel, -- text: the index
  m.key as name, -- text: where the mirror is
  m.value as url -- text: its address
from _channel c, json_each(c.mirrors) m order by c.rowid, m.key;

-- Builds: the installable forms of releases.
create view build as select
  v.build as id, -- text: product==version
  e.product, -- text: its product
  v.release, -- text: the release that it was built from
  e.version, -- text: its version, with its local label
  row_number() over (partition by e.product order by e.idx desc) - 1
    as position, -- integer: 0 for the newest of its product
  e.stage, -- text: stable, preview, prototype, from-source, source-only or tag-only
  e.installable, -- boolean: whether an index carries it in a form that installers take
  e.distribution, -- text or null: its name on package indexes
  e.maker, -- text or null: who built it, where that is not the product's own maker
  e.extras, -- text: the extras without which its requirements are not installed
  e.only_with, -- text: products without which it has no use, between spaces
  date(e.since + 1721424.5) as released_from, -- date or null: the first day on which it may have been released
  date(e.by + 1721424.5) as released_by, -- date or null: the day by which it was; equal to the first where the day is known
  e.yank_by is not null as yanked, -- boolean: whether it is withdrawn
  d.wheels_note, -- text or null: a remark on its wheels
  d.note -- text or null: a remark
from _version v join _element e on e.product = v.product and e.idx = v.idx
join _element_details d on d.product = v.product and d.idx = v.idx join _product p on p.id = v.product
where v.build is not null order by p.rank, p.id, e.idx desc;

-- The devices that a build is for.
create view build_device as select
  v.build, -- text: the build
  w.value as device -- text: the device
from _version v join _element e on e.product = v.product and e.idx = v.idx, json_each(WORDS(e.devices)) w
where v.build is not null;

-- The indexes that carry a build.
create view build_channel as select distinct
  v.build, -- text: the build
  w.value as channel -- text: the index
from _version v join _element e on e.product = v.product and e.idx = v.idx, json_each(WORDS(e.channels)) w
where v.build is not null and w.value in (select id from _channel);

-- The documents that a build rests on.
create view build_source as select
  v.build, -- text: the build
  s.key as position, -- integer: 0 for the first
  json_extract(s.value, '$[0]') as text, -- text: the document
  json_extract(s.value, '$[1]') as url -- text or null: its address
from _version v join _element_details d on d.product = v.product and d.idx = v.idx, json_each(d.sources) s
where v.build is not null;

-- The platforms for which a build has wheels, by family of operating systems.
create view wheel as select
  v.build, -- text: the build
  w.os, -- text: the family of operating systems
  w.arch, -- text: the architecture
  w.python, -- text: the Python minor; a t marks the free-threaded one
  iif(max(w.cells = e.certain), 'seen', 'inferred') as basis -- text: seen, or inferred
from _version v join _element e on e.product = v.product and e.idx = v.idx and e.installable
join _platform w on w.cells in (e.certain, e.inferred)
where v.build is not null group by v.build, w.os, w.arch, w.python;

create view _standing as select c.claim, max(iif(d.decision = 'open', 'open', 'overruled')) as standing
from _concerned c join _dispute d on d.id = c.dispute where c.claim is not null and (
  d.decision = 'open' or d.decision != c.claim and instr(' ' || d.claims || ' ', ' ' || d.decision || ' ')
) group by c.claim;

-- Claims: what versions of one product say of versions of another.
create view claim as select
  c.id, -- text: its id; claims read from an index or from evidence have ids that are made
  c.product, -- text: the product that says it
  c.kind, -- text: needs, constrains, verified or breaks
  c.of_term, -- text: who says it: product and specifier
  c.to_terms, -- text: of whom; several terms stand between bars
  c.condition, -- text: when it holds; empty for always
  c.basis, -- text: stated, observed or inferred
  coalesce(s.standing, 'holds') as standing, -- text: holds; open in a dispute; or overruled by the decision of one
  c.origin, -- text: people, who read its source; index, for what an index says; or evidence
  c.reason, -- text or null: why it breaks
  c.note -- text or null: a remark; for an inference its reason
from _claim c left join _standing s on s.claim = c.id where c.product not in (select id from _feature) order by c.id;

-- The documents that a claim rests on.
create view claim_source as select
  c.claim, -- text: the claim
  row_number() over (partition by c.claim order by min(c.n)) - 1 as position, -- integer: 0 for the first
  c.text, -- text: the document
  c.url -- text or null: its address
from _citation c join _claim k on k.id = c.claim and k.product not in (select id from _feature)
group by c.claim, c.text, c.url order by c.claim, min(c.n);

create view _said as
select g.claim, 'of' as side, g."of" as product, g.of_mask as mask, 0 as anything
from _edge g join _claim c on c.id = g.claim where g.extra = '' and c.product not in (select id from _feature)
union all
select g.claim, 'to', g."to", g.to_mask, g.spec = 'any version'
from _edge g join _claim c on c.id = g.claim where g.extra = '' and c.product not in (select id from _feature) and exists (
  select 1 from json_each('["' || replace(c.to_terms, ' | ', '","') || '"]') t
  where t.value = g."to" or t.value glob g."to" || '[=<>!~ ]*'
);

-- The known versions that the two sides of a claim name; a claim that was overruled names none.
create view claim_side as select distinct
  s.claim, -- text: the claim
  s.side, -- text: of, or to
  s.product, -- text: the product named
  v.release, -- text or null: the release named; null where any version will do
  v.build -- text or null: the build named; null where the release has none
from _said s join _member m on m.product = s.product and m.mask = s.mask
join _version v on v.product = m.product and v.idx = m.idx where not s.anything
union select claim, side, product, null, null from _said where anything;

-- Features: something that software can do.
create view feature as select
  id, -- text: its id
  name, -- text: its name
  coalesce((select group_concat(value, ', ') from json_each(aliases)), '')
    as names, -- text: further names by which it is found, between commas
  product, -- text: the product that it is part of
  note -- text or null: a remark
from _feature order by id;

-- Products without which nobody has a feature.
create view feature_need as select
  f.id as feature, -- text: the feature
  w.value as product -- text: the product
from _feature f, json_each(WORDS(f.needs)) w order by f.id, w.key;

-- The documents that a feature's needs rest on.
create view feature_source as select
  f.id as feature, -- text: the feature
  min(s.key) as position, -- integer: its place, small first
  json_extract(s.value, '$[0]') as text, -- text: the document
  json_extract(s.value, '$[1]') as url -- text or null: its address
from _feature f, json_each(f.sources) s group by f.id, s.value order by f.id, min(s.key);

-- What sources say of a feature: which versions have it, under which condition.
create view statement as select
  s.claim as id, -- text: its id
  s.feature, -- text: the feature
  s.position, -- integer: its place among those of the feature
  s.product, -- text: the product of whose versions it speaks
  s.product || s.spec as term, -- text: these versions, as product and specifier
  s.status, -- text: supported, beta, prototype, not-supported or removed
  s.device as devices, -- text: on these devices, between spaces; empty for any
  s.os, -- text: on these systems, likewise
  s.arch, -- text: on these architectures, likewise
  s.python, -- text: with these Pythons, likewise
  s.hardware, -- text: on this hardware, likewise
  s.basis, -- text: stated, observed or inferred
  coalesce(t.standing, 'holds') as standing, -- text: holds; open in a dispute; or overruled by the decision of one
  s.reason, -- text or null: of a denial: the sentence that people read
  s.note -- text or null: a remark; for an inference its reason
from _statement s left join _standing t on t.claim = s.claim order by s.feature, s.position;

-- The known versions that a statement covers; one that was overruled covers none.
create view statement_version as select
  s.claim as statement, -- text: the statement
  v.product, -- text: the product named
  v.release, -- text: the release named
  v.build -- text or null: the build named; null where the release has none
from _statement s join _member m on m.product = s.product and m.mask = s.mask
join _version v on v.product = m.product and v.idx = m.idx;

-- The documents that a statement rests on.
create view statement_source as select
  c.claim as statement, -- text: the statement
  row_number() over (partition by c.claim order by min(c.n)) - 1 as position, -- integer: 0 for the first
  c.text, -- text: the document
  c.url -- text or null: its address
from _citation c join _statement s on s.claim = c.claim group by c.claim, c.text, c.url order by c.claim, min(c.n);

-- What users of some versions must be told.
create view advisory as select
  rowid - 1 as id, -- integer: a number without meaning
  product, -- text: the product that it concerns
  kind, -- text: security, vulnerability, driver, device, known-issue or unreviewed
  message, -- text: the sentence that users read
  date(since + 1721424.5) as since, -- date: the day since which it is known
  nullif("to", '') as beside, -- text or null: it concerns them only beside this product
  devices -- text: the devices of which it speaks, between spaces; empty for any
from _advisory order by rowid;

-- The versions that an advisory concerns.
create view advisory_version as select
  a.rowid - 1 as advisory, -- integer: the advisory
  v.product, -- text: the product named
  v.release, -- text: the release named
  v.build -- text or null: the build named; null where the release has none
from _advisory a join _member m on m.product = a.product and m.mask = a.mask
join _version v on v.product = m.product and v.idx = m.idx;

-- The documents that an advisory rests on.
create view advisory_source as select
  a.rowid - 1 as advisory, -- integer: the advisory
  s.key as position, -- integer: 0 for the first
  json_extract(s.value, '$[0]') as text, -- text: the document
  json_extract(s.value, '$[1]') as url -- text or null: its address
from _advisory a, json_each(a.sources) s;

-- Scopes inside which our list of releases is whole, so that an absence means no.
create view completeness as select
  rowid - 1 as id, -- integer: a number without meaning
  product, -- text: the product
  product || spec as term, -- text: the versions covered, as product and specifier
  channel, -- text or null: only on this index
  devices, -- text: only for these devices, between spaces; empty for any
  nullif(date(until + 1721424.5), '9999-12-31') as until -- date or null: the day up to which it is whole; null where it is closed for good
from _scope order by rowid;

-- The documents that a scope rests on.
create view completeness_source as select
  c.rowid - 1 as completeness, -- integer: the scope
  s.key as position, -- integer: 0 for the first
  json_extract(s.value, '$[0]') as text, -- text: the document
  json_extract(s.value, '$[1]') as url -- text or null: its address
from _scope c, json_each(c.sources) s;

-- Installations that one plain command cannot do.
create view install as select
  id, -- integer: a number without meaning
  product, -- text: the product
  (select group_concat((select group_concat(value, ' ') from json_each(s.value)), ' | ') from json_each(steps) s)
    as steps, -- text: products in the order of installation; bars stand between steps
  coalesce((select group_concat(value, ' | ') from json_each(waives)), '')
    as waives, -- text: pins in metadata that its maker says to ignore, between bars
  note -- text or null: a remark
from _install order by id;

-- The versions that an installation is for.
create view install_version as select
  i.id as install, -- integer: the installation
  v.product, -- text: the product named
  v.release, -- text: the release named
  v.build -- text or null: the build named; null where the release has none
from _install i join _member m on m.product = i.product and m.mask = i.mask
join _version v on v.product = m.product and v.idx = m.idx;

-- The documents that an installation rests on.
create view install_source as select
  i.id as install, -- integer: the installation
  s.key as position, -- integer: 0 for the first
  json_extract(s.value, '$[0]') as text, -- text: the document
  json_extract(s.value, '$[1]') as url -- text or null: its address
from _install i, json_each(i.sources) s;

-- Ways to reach a device.
create view route as select
  id, -- text: its id
  name, -- text: its name
  rank, -- integer: small for the preferred one
  devices, -- text: the devices, between spaces
  provider, -- text or null: the product that brings the device
  with_ as with_products, -- text: products that belong to it, between spaces
  without as without_products, -- text: products that it leaves out, between spaces
  on_request, -- boolean: true: taken only where its device, or what is for its device alone, is asked for
  note -- text or null: a remark
from _route order by rank, id;

-- Container image tags.
create view image_tag as select
  repository || ':' || name as id, -- text: repository:tag
  repository, -- text: the repository, as docker pull takes it
  name, -- text: the tag
  device, -- text: the device that it is for
  (select date(min(json_extract(value, '$[0]')) + 1721424.5) from json_each(runs))
    as first_listed, -- date or null: the day on which its maker's document first listed it
  (select nullif(date(max(json_extract(value, '$[1]')) + 1721424.5), '9999-12-31') from json_each(runs))
    as last_listed, -- date or null: the last day on which it did; null while it does
  note -- text or null: a remark
from _image order by repository, name;

-- The spans of days in which the maker's document listed a tag.
create view image_listing as select
  i.repository || ':' || i.name as image_tag, -- text: the tag
  r.key as position, -- integer: 0 for the first
  date(json_extract(r.value, '$[0]') + 1721424.5) as listed_from, -- date: the first day
  nullif(date(json_extract(r.value, '$[1]') + 1721424.5), '9999-12-31') as listed_to -- date or null: the last day; null while it is listed
from _image i, json_each(i.runs) r order by i.repository, i.name, r.key;

-- What image tags contain.
create view image_content as select
  i.repository || ':' || i.name as image_tag, -- text: the tag
  c.product || c.spec as term, -- text: what it contains, as product and specifier
  c.basis, -- text: stated, observed or inferred
  p.id as product, -- text or null: the product; null where the data do not know it
  v.release, -- text or null: a release that the term names; null where the data know none
  v.build -- text or null: a build that it names
from _image i join _content c on c.image = i.id left join _product p on p.id = c.product
left join _named v on v.product = c.product and v.mask = c.mask;

-- The documents that an image tag rests on.
create view image_tag_source as select
  i.repository || ':' || i.name as image_tag, -- text: the tag
  s.key as position, -- integer: 0 for the first
  json_extract(s.value, '$[0]') as text, -- text: the document
  json_extract(s.value, '$[1]') as url -- text or null: its address
from _image i, json_each(i.sources) s;

-- Those whose events the timeline has.
create view vendor as select
  id, -- text: its id
  rowid - 1 as position, -- integer: its place in the data
  name -- text: its name
from _vendor order by rowid;

-- Events of the timeline: releases, milestones, ends of life.
create view event as select
  e.id, -- text: its id
  e.rowid - 1 as position, -- integer: its place in time, 0 for the oldest
  e.vendor, -- text: whose event it is
  e.kind, -- text: release, milestone or end-of-life
  e.title, -- text: what happened
  e.product, -- text or null: the product that it is about, where the data know it
  e.product || '==' || e.version as release, -- text or null: the release that it is about, likewise
  date(e.first + 1721424.5) as first_day, -- date: the first day on which it can have happened
  date(e.last + 1721424.5) as last_day, -- date: the last one; equal to the first where the day is known
  e.precision, -- text: day, month, quarter, half, year, end-of-month ..., or bounds
  e.basis, -- text or null: where its date is that of a release: what that date is
  date(e.announced + 1721424.5) as announced, -- date or null: the day from which on it was planned
  e.note -- text or null: a remark
from _event e order by e.rowid;

-- The documents that an event rests on.
create view event_source as select
  e.id as event, -- text: the event
  s.key as position, -- integer: 0 for the first
  json_extract(s.value, '$[0]') as text, -- text: the document
  json_extract(s.value, '$[1]') as url -- text or null: its address
from _event e, json_each(e.sources) s;

-- Sources that disagree, and what was decided.
create view dispute as select
  id, -- text: its id
  kind, -- text: what the data that record it are about: product, feature, image, channel or timeline
  iif(kind = 'product', owner, null) as product, -- text or null: the product whose data record it
  iif(kind = 'feature', owner, null) as feature, -- text or null: the feature whose data record it
  iif(kind = 'image', owner, null) as repository, -- text or null: the image repository whose data record it
  about, -- text: what they disagree about
  day as date_of, -- text or null: where it is about a date, which one: released or end-of-life
  device as devices, -- text: it matters on these devices, between spaces; empty for any
  os, -- text: on these systems, likewise
  arch, -- text: on these architectures, likewise
  python, -- text: with these Pythons, likewise, or within one bound
  hardware, -- text: on this hardware, likewise
  decision, -- text: the claim or value that holds, both, or open
  holds, -- text or null: what holds, in words; null while it is open
  reason, -- text: why
  decided -- date: the day of the decision; of an open one, the day on which it was last looked at
from _dispute order by id;

-- The claims that a dispute is about.
create view dispute_claim as select
  d.id as dispute, -- text: the dispute
  w.value as claim -- text: the claim
from _dispute d, json_each(WORDS(d.claims)) w where d.kind != 'feature' order by d.id, w.key;

-- The statements about a feature that a dispute is about.
create view dispute_statement as select
  d.id as dispute, -- text: the dispute
  w.value as statement -- text: the statement
from _dispute d, json_each(WORDS(d.claims)) w where d.kind = 'feature' order by d.id, w.key;

-- Whom a dispute concerns beside its claims: in each row a version, a feature, an image tag, a channel or an event.
create view dispute_subject as select
  d.id as dispute, -- text: the dispute
  iif(p.role = 'feature', null, p.id) as product, -- text or null: the product
  v.release, -- text or null: its release
  v.build, -- text or null: its build
  iif(p.role = 'feature', p.id, null) as feature, -- text or null: the feature
  iif(d.kind = 'image', c.name, null) as image_tag, -- text or null: the image tag
  iif(d.kind = 'channel', c.name, null) as channel, -- text or null: the index
  iif(d.kind = 'timeline', c.name, null) as event -- text or null: the event
from _concerned c join _dispute d on d.id = c.dispute
left join _product p on p.id = c.name and d.kind in ('product', 'feature')
left join _named v on v.product = p.id and v.mask = c.mask
where c.claim is null;

-- What each side of a dispute says.
create view dispute_position as select
  d.id as dispute, -- text: the dispute
  p.key as position, -- integer: 0 for the first
  json_extract(p.value, '$[0]') as text, -- text: what it says
  iif(d.kind != 'feature', json_extract(p.value, '$[1]'), null) as claim, -- text or null: the claim that says it
  iif(d.kind = 'feature', json_extract(p.value, '$[1]'), null)
    as statement -- text or null: the statement about a feature that says it
from _dispute d, json_each(d.positions) p order by d.id, p.key;

-- The documents of each side of a dispute.
create view dispute_position_source as select
  d.id as dispute, -- text: the dispute
  p.key as position, -- integer: the side, as in dispute_position
  s.key as number, -- integer: 0 for the first document of a side
  json_extract(s.value, '$[0]') as text, -- text: the document
  json_extract(s.value, '$[1]') as url -- text or null: its address
from _dispute d, json_each(d.positions) p, json_each(json_extract(p.value, '$[2]')) s order by d.id, p.key, s.key;

-- What commands saw, dated and repeatable.
create view observation as select
  id, -- integer: its place in the evidence
  level, -- text: published, resolve, symbols, gate, import or run
  outcome, -- text: ok, how it failed, or not-checked
  python, -- text: the Python that it was made with
  os, -- text: the operating system
  arch, -- text: the architecture
  device, -- text: the device
  channel, -- text: the index: a channel, or the address that answered in its place
  checked, -- date: the day
  tool, -- text: what decided: index, pip, uv or python
  stubbed, -- boolean: whether libraries of another device were replaced by empty ones
  detail, -- text: what was printed
  culprit, -- text or null: the claim that a failure proved, where somebody found it
  coalesce((select group_concat(value, ' ') from json_each(missing)), '')
    as missing, -- text: the most telling symbols and libraries that one build needs and the other lacks, between spaces
  coalesce((select group_concat(value, ' ') from json_each(needs)), '')
    as needs, -- text: libraries that a build does not bring, and versions such as GLIBC_2.28, between spaces
  coalesce((select group_concat(value, ' ') from json_each(unlinked)), '')
    as unlinked, -- text: products of which no library of a build needs a symbol, between spaces
  fetched -- integer: bytes of the wheel that were read for its symbols
from _observation order by id;

-- The packages of an observation.
create view observation_package as select
  o.id as observation, -- integer: the observation
  p.key as name, -- text: the package
  v.value as version -- text: its version; several of one package were seen with each of the others
from _observation o, json_each(o.packages) p, json_each(WORDS(p.value)) v order by o.id, p.key, v.key;

-- Releases of packages with their dates, end of life, withdrawal and builds; newest first.
create view releases as select
  r.product, r.version, r.released_from, r.released_by, r.released_basis, r.eol, r.yanked, r.yank_reason,
  (select group_concat(v.build, ', ') from _version v where v.product = r.product and v.release = r.id) as builds
from release r join product p on p.id = r.product where p.role in ('package', 'companion')
order by p.place, r.product, r.position;

-- Each claim with each document that it rests on.
create view claims_with_sources as select
  c.id as claim, c.of_term, c.kind, c.to_terms, c.condition, c.basis, c.standing, c.reason, c.note, s.text as source, s.url,
  max(s.seen) as seen
from claim c left join _citation s on s.claim = c.id group by c.id, s.text, s.url order by c.id, min(s.n);

-- Claims with the versions that they name on both sides: who says what of whom.
create view claims_by_version as select
  o.product, o.release, o.build, c.kind, t.product as other_product, t.release as other_release, t.build as other_build,
  c.condition, c.basis, c.standing, c.id as claim
from claim c join claim_side o on o.claim = c.id and o.side = 'of' join claim_side t on t.claim = c.id and t.side = 'to';

-- Image tags with what they contain, a row for each thing.
create view image_contents as select
  t.repository, t.name as tag, t.device, c.product, c.term, c.basis, t.first_listed, t.last_listed,
  group_concat(coalesce(c.build, c.release), ', ') as versions
from image_tag t left join image_content c on c.image_tag = t.id
group by t.id, c.term order by t.repository, t.name, c.term;

-- Releases of packages that are neither withdrawn nor past their end of life on the day of the query.
create view current_support as select
  r.product, r.series, r.version, r.released_by as released, r.eol,
  cast(julianday(r.eol) - julianday(date('now')) as integer) as days_left
from release r join product p on p.id = r.product
where p.role in ('package', 'companion') and not r.yanked and coalesce(r.eol, p.eol, date('now')) >= date('now') and exists (
  select 1 from _element e where e.product = r.product and e.release = r.version and e.installable and e.devices != ''
) order by p.place, r.product, r.position;

-- Every known end of life, the next ones first, then those that are over; days counted on the day of the query.
create view ends_of_life as select
  r.product, r.version, r.eol as last_day, r.eol_precision as precision,
  cast(julianday(r.eol) - julianday(date('now')) as integer) as days_left
from release r where r.eol is not null
order by r.eol < date('now'), abs(julianday(r.eol) - julianday(date('now'))), r.product, r.position;

-- The Pythons for which a build has wheels, by system and architecture.
create view build_platforms as select
  b.product, b.version as build, w.os, w.arch, w.basis, group_concat(w.python, ', ') as pythons
from build b join wheel w on w.build = b.id
group by b.id, w.os, w.arch, w.basis order by b.product, b.position, w.os, w.arch, w.basis;

-- Each dispute with what each side says, its documents, and the decision.
create view disputes_with_sides as select
  d.id as dispute, d.kind, coalesce(d.product, d.feature, d.repository) as owner, d.about, p.text as says,
  s.text as source, s.url, d.decision, d.holds, d.reason, d.decided
from dispute d left join dispute_position p on p.dispute = d.id
left join dispute_position_source s on s.dispute = d.id and s.position = p.position
order by d.id, p.position, s.number;

-- Features with the versions of which sources say that they have them or do not, and where.
create view features_by_version as select
  v.product, v.release, v.build, s.feature, s.status, s.devices, s.os, s.arch, s.python, s.hardware, s.basis,
  s.standing, s.reason, s.note, s.id as statement
from statement s join statement_version v on v.statement = s.id;

-- What happened when, the oldest first; with the number of disputes about it.
create view timeline as select
  e.first_day, e.last_day, e.precision, v.name as vendor, e.kind, e.title, e.release, e.announced, e.note,
  (select count(*) from dispute_subject d where d.event = e.id) as disputes, e.id as event
from event e left join vendor v on v.id = e.vendor order by e.position;

-- What is only inferred or still disputed: where a contribution helps most.
create view open_questions as
select 'claim' as what, c.id, c.of_term || ' ' || c.kind || ' ' || c.to_terms as about, coalesce(c.note, '') as why
from claim c where c.standing = 'open' or (c.standing = 'holds' and c.basis = 'inferred')
union all
select 'statement', s.id, s.feature || ' ' || s.status || ' in ' || s.term, coalesce(s.note, '')
from statement s where s.standing = 'open' or (s.standing = 'holds' and s.basis = 'inferred')
union all
select 'dispute', d.id, d.about, d.reason from dispute d where d.decision = 'open'
order by 1, 2;
