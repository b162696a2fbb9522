#include "compiler/ir/image.h"

#include "compiler/base/sha256.h"
#include "compiler/ir/visible.h"

struct str image_root(struct str image)
{
	static const struct str dir = STR_INIT("dir:");

	return str_starts(image, dir) ? str_slice(image, dir.n, image.n)
				      : (struct str){0};
}

bool image_archive(struct str image, struct image_archive *out)
{
	static const struct str archive = STR_INIT("archive:"),
				digest = STR_INIT("@sha256:");

	if (!str_starts(image, archive))
		return false;
	*out = (struct image_archive){
		.path = str_slice(image, archive.n, image.n)};
	for (size_t i = out->path.n; i-- > 0;) {
		struct str rest = str_slice(out->path, i, out->path.n);

		if (!str_starts(rest, digest))
			continue;
		out->sha256 = str_slice(rest, digest.n, rest.n);
		out->path = str_slice(out->path, 0, i);
		break;
	}
	return true;
}

bool image_is_own(struct str image)
{
	struct image_archive ignored;

	return image_root(image).n > 0 || image_archive(image, &ignored);
}

struct str image_place(struct str image)
{
	struct image_archive x;

	return image_archive(image, &x) ? x.path : image_root(image);
}

const char *image_fault(struct str image)
{
	struct str path = image_place(image);
	struct image_archive x;

	if (path.n == 0 || path.p[0] != '/')
		return "is not absolute";
	if (image_archive(image, &x) && x.sha256.n == 0)
		return "has no digest";
	if (image_archive(image, &x) && !sha256_is_hex(x.sha256))
		return "has a digest that is none: 64 digits, in lower case";
	/* a shared home, or the machine itself, would be the whole of it */
	return image_root(image).n ? visible_fault(path) : NULL;
}
